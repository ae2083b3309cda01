"""Invented names for the demo accounts: first and family names of many cultures, drawn independently.

A combination may by chance be somebody's name; none stands for a real person or firm.
"""

from __future__ import annotations

import numpy as np

_FIRST = {
    "british": "Oliver Amelia Harry Isla Jack Freya Alfie Poppy Ewan Rhiannon Callum Imogen Rory Bethan",
    "german": "Lukas Hanna Felix Lena Jonas Mia Moritz Greta Anton Clara Emil Frieda Till Svenja",
    "french": "Louis Chloé Hugo Manon Jules Inès Gabriel Camille Théo Élise Bastien Margaux Rémi Solène",
    "spanish": "Hugo Lucía Mateo Martina Pablo Sofía Álvaro Carmen Iker Nerea Diego Alba Íñigo Rocío",
    "italian": "Leonardo Giulia Lorenzo Aurora Matteo Ginevra Davide Chiara Pietro Elisa Tommaso Bianca",
    "polish": "Jakub Zuzanna Szymon Maja Filip Oliwia Kacper Hanna Wojciech Agnieszka Paweł Kinga",
    "dutch": "Daan Sanne Bram Fleur Sem Lotte Thijs Femke Joris Maaike Ruben Anouk",
    "nordic": "Elias Ebba Axel Saga Lars Ingrid Mikkel Freja Onni Aino Sindre Maren",
    "portuguese": "João Beatriz Tiago Mariana Rui Leonor Gonçalo Inês Duarte Matilde Vasco Filipa",
    "romanian": "Andrei Ioana Mihai Elena Ștefan Raluca Vlad Bianca Radu Anca Cosmin Mirela",
    "turkish": "Emre Zeynep Mert Elif Kerem Defne Burak Aylin Onur Selin Cem Derya",
    "greek": "Giorgos Eleni Nikos Katerina Dimitris Sofia Yannis Despina Kostas Ioanna Petros Danae",
    "arabic": "Youssef Salma Karim Nour Tariq Layla Hamza Rania Sami Yasmin Bilal Amina",
    "indian": "Arjun Ananya Rohan Priya Vikram Kavya Aditya Meera Sanjay Lakshmi Rahul Divya",
    "chinese": "Wei Xiulan Jun Meiling Hao Yating Ming Lihua Bo Jiayi Chen Ruolan",
    "vietnamese": "Minh Linh Tuấn Hương Khoa Thảo Long Ngọc Phúc Trang Bảo Mai",
    "nigerian": "Chinedu Ngozi Emeka Adaeze Tunde Folake Ifeanyi Amaka Segun Yetunde Obinna Chioma",
    "ghanaian": "Kwame Akosua Kofi Abena Yaw Efua Kojo Ama Kwabena Adwoa Nana Esi",
    "ukrainian": "Oleksandr Olena Dmytro Kateryna Andriy Oksana Taras Iryna Bohdan Halyna Maksym Daryna",
    "latin": "Santiago Valentina Thiago Camila Joaquín Renata Emiliano Ximena Benjamín Antonia Caio Luana",
}
_LAST = {
    "british": "Whitlock Pemberton Ashdown Hargreave Trevanion Caldwell Brannigan Lockyer Penrose Fairclough",
    "german": "Brandmeier Hollerbach Kessler Rautenberg Steinhoff Vogelsang Ziegelmann Amrein Dornbusch",
    "french": "Delacourt Fontenelle Marchandeau Rivoire Beaulieu Charpentin Lavigne Tessier Morvan Aubertin",
    "spanish": "Arizmendi Cifuentes Escribano Lozaya Montalbán Quintanar Robledo Salvatierra Urrutia",
    "italian": "Bellandi Carminati Ferrantelli Gualandri Locatelli Montefusco Paganotti Sartorelli Tomasini",
    "polish": "Bielawski Czarnota Domagała Grzelak Kowalczyk Maciejak Olszewik Rutkowiak Sobczyk Zawadka",
    "dutch": "Achterberg Brouwershoek Dijkgraaf Hoogland Kuipers Molenkamp Oosterveld Ruiter Terhorst",
    "nordic": "Bergdahl Ekelund Fjeldstad Granqvist Halvorsrud Kallioniemi Lindegren Nygård Solheim",
    "portuguese": "Albuquerque Bragança Carvalhal Figueira Lourenço Meireles Noronha Pimentel Sequeira",
    "romanian": "Albescu Bratianov Cernescu Dragulin Filimon Lupașcu Munteanu Oprișan Stoicescu Vasilache",
    "turkish": "Akdoğan Bozkurt Çelikel Demirtaş Erdemli Karabulut Özgüner Sarıkaya Tuncer Yıldızhan",
    "greek": "Anagnostou Vlachakis Giannopoulos Karamitsos Lambridis Markakis Papathanos Samaras Theodorou",
    "arabic": "Benhaddou Chaoui El-Mansour Haddadi Kassab Lahlou Najjari Rahmouni Saidani Zerouali",
    "indian": "Agnihotri Bhattarai Chaudhuri Deshpande Iyengar Kulkarni Mahapatra Nambiar Raghavan Sengupta",
    "chinese": "Ouyang Zhuang Shangguan Liang Xue Jiang Fang Tian Meng Qiu",
    "vietnamese": "Nguyễn Trần Phạm Huỳnh Võ Đặng Bùi Dương Lương Trịnh",
    "nigerian": "Adeyinka Balogun Chukwuma Ezenwa Ibekwe Nwachukwu Ogunleye Okonjo Salako Uzochukwu",
    "ghanaian": "Agyeman Boateng Darko Frimpong Kyeremeh Mensah Nkansah Opoku Sarpong Yeboah",
    "ukrainian": "Bondarchuk Derkach Hnatiuk Kovalenko Lysenko Melnychuk Petrenko Shevchuk Tkachuk",
    "latin": "Aguirre Barrientos Cárdenas Echeverri Figueroa Ledesma Maldonado Pizarro Saldanha Villanueva",
}
_LOCAL = {
    "GB": "british",
    "DE": "german",
    "FR": "french",
    "ES": "spanish",
    "IT": "italian",
    "PL": "polish",
    "NL": "dutch",
    "SE": "nordic",
    "PT": "portuguese",
    "RO": "romanian",
    "GR": "greek",
}
_PLACES = (
    "Harbour Linden Granite Juniper Meridian Copper Nordlicht Aurora Bluebird Cedar Delta Ember Falcon Onyx"
)
_TRADES = "Foods Logistics Cycles Bakery Textiles Consulting Repairs Pharmacy Books Garden Electrics Travel"
_FORMS = {"GB": "Ltd", "DE": "GmbH", "FR": "SARL", "ES": "SL", "IT": "Srl", "PL": "sp. z o.o.", "NL": "BV"}
_FORMS |= {"SE": "AB", "PT": "Lda", "RO": "SRL", "GR": "IKE"}

COUNTRIES = tuple(_LOCAL)


def person(country: str, rng: np.random.Generator) -> str:
    """A name: three of five people carry one of the country's own tradition."""
    cultures = list(_FIRST)
    culture = _LOCAL[country] if rng.random() < 0.6 else cultures[rng.integers(len(cultures))]
    return f"{rng.choice(_FIRST[culture].split())} {rng.choice(_LAST[culture].split())}"


def business(country: str, rng: np.random.Generator) -> str:
    """A firm's name with the legal form of its country."""
    return f"{rng.choice(_PLACES.split())} {rng.choice(_TRADES.split())} {_FORMS[country]}"
